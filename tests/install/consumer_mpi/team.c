/* Writes one file as a team of as many ranks as there are, and reads it again. usage: team FILE */
#include <stdio.h>
#include <string.h>

#include <stockade/stockade_mpi.h>

static stockade_status write_and_read(stockade_mpi_team *team, const char *path) {
  unsigned char key[32] = {1}, part[1000], back[1000];
  uint64_t length = 0, offset = sizeof part * (uint64_t)stockade_mpi_rank(team);
  stockade_format format = {sizeof format};
  stockade_keyring *keyring = NULL;
  stockade_status status = stockade_keyring_create(&keyring);
  memset(part, (int)stockade_mpi_rank(team), sizeof part);
  if (status == STOCKADE_OK) status = stockade_keyring_add_key(keyring, key, sizeof key);
  format.keyring = keyring;
  if (status == STOCKADE_OK)
    status = stockade_mpi_file_write(team, path, &format, part, offset, sizeof part, NULL, NULL);
  if (status == STOCKADE_OK)
    status = stockade_mpi_file_read(team, path, &format, back, offset, sizeof back, &length, NULL, NULL);
  if (status == STOCKADE_OK && (length != sizeof part || memcmp(part, back, sizeof part) != 0))
    status = STOCKADE_ERROR_CHUNK;
  stockade_keyring_free(keyring);
  return status;
}

int main(int argc, char **argv) {
  stockade_mpi_team *team = NULL;
  stockade_status status = stockade_mpi_team_start(&team, &argc, &argv);
  if (status == STOCKADE_OK) status = write_and_read(team, argv[1]);
  if (status != STOCKADE_OK) fprintf(stderr, "team: %s\n", stockade_status_text(status));
  stockade_mpi_team_free(team);
  return status != STOCKADE_OK;
}
