/* The header as a C11 program sees it: everything declared links, and a message comes back. Prints what failed. */
#include <stdio.h>
#include <string.h>

#include "stockade/stockade.h"

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  printf("failed: %s\n", what);
  ++failures;
}

/* NIST SP 800-38A, F.5.1, the first block. */
static const uint8_t ctr_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t ctr_iv[16] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
                                   0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff};
static const uint8_t ctr_in[16] = {0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96,
                                   0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a};
static const uint8_t ctr_out[16] = {0x87, 0x4d, 0x61, 0x91, 0xb6, 0x20, 0xe3, 0x26,
                                    0x1b, 0xef, 0x68, 0x64, 0x99, 0x0d, 0xb6, 0xce};

static void try_one_message(const stockade_engine* engine) {
  stockade_key* key = NULL;
  uint8_t out[16], back[16];
  expect(stockade_key_create(&key, STOCKADE_CTR, ctr_key, sizeof ctr_key, NULL) == STOCKADE_OK, "key");
  expect(stockade_key_mode(key) == STOCKADE_CTR && stockade_key_bits(key) == 128, "what the key says of itself");
  expect(stockade_key_row(key)[0] != '\0', "row");
  expect(stockade_encrypt(key, ctr_iv, 16, ctr_in, 16, out, engine) == STOCKADE_OK, "encrypt");
  expect(memcmp(out, ctr_out, 16) == 0, "ciphertext");
  expect(stockade_decrypt(key, ctr_iv, 16, out, 16, back, engine) == STOCKADE_OK, "decrypt");
  expect(memcmp(back, ctr_in, 16) == 0, "plaintext");
  stockade_key_free(key);
}

static void try_sealed_message(const stockade_engine* engine) {
  stockade_key* key = NULL;
  stockade_message message;
  uint8_t text[20] = "twenty bytes of text", tag[16];
  expect(stockade_key_create(&key, STOCKADE_GCM, ctr_key, sizeof ctr_key, NULL) == STOCKADE_OK, "gcm key");
  expect(stockade_seal(key, ctr_iv, 12, ctr_in, 5, text, 20, text, tag, 16, engine) == STOCKADE_OK, "seal");
  memset(&message, 0, sizeof message);
  message.key = key;
  message.iv = ctr_iv;
  message.iv_length = 12;
  message.aad = ctr_in;
  message.aad_length = 5;
  message.in = text;
  message.length = 20;
  message.out = text;
  message.tag = tag;
  message.tag_length = 16;
  expect(stockade_decrypt_many(&message, 1, engine) == STOCKADE_OK, "open one of many");
  expect(memcmp(text, "twenty bytes of text", 20) == 0, "opened text");
  expect(stockade_open(key, ctr_iv, 12, ctr_in, 5, text, 20, text, tag, 16, engine) == STOCKADE_ERROR_AUTHENTICATION,
         "refusal");
  stockade_key_free(key);
}

static void try_stream(const stockade_engine* engine) {
  stockade_key* key = NULL;
  stockade_stream* stream = NULL;
  uint8_t out[32];
  uint64_t first = 0, last = 0;
  expect(stockade_key_create(&key, STOCKADE_CBC, ctr_key, sizeof ctr_key, NULL) == STOCKADE_OK, "cbc key");
  expect(
      stockade_stream_create(&stream, key, STOCKADE_ENCRYPT, ctr_iv, 16, STOCKADE_PADDING_PKCS7, engine) == STOCKADE_OK,
      "stream");
  expect(stockade_stream_bound(stream, 16) <= sizeof out, "bound");
  expect(stockade_stream_update(stream, ctr_in, 16, out, sizeof out, &first) == STOCKADE_OK, "update");
  expect(stockade_stream_final(stream, out + first, sizeof out - first, &last, NULL, 0) == STOCKADE_OK, "final");
  expect(first + last == 32, "padded length");
  stockade_stream_free(stream);
  stockade_key_free(key);
}

/* A Stockade file in memory, as the callbacks below see it. */
struct memory {
  uint8_t bytes[4096];
  uint64_t length, done;
};

static int64_t read_next(void* context, void* buffer, uint64_t size) {
  struct memory* file = context;
  const uint64_t left = file->length - file->done, count = size < left ? size : left;
  memcpy(buffer, file->bytes + file->done, count);
  file->done += count;
  return (int64_t)count;
}

static int read_any(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const struct memory* file = context;
  if (offset > file->length || length > file->length - offset) return -1;
  memcpy(buffer, file->bytes + offset, length);
  return 0;
}

static stockade_keyring* make_keyring(const uint8_t key[32]) {
  stockade_keyring* ring = NULL;
  expect(stockade_keyring_create(&ring) == STOCKADE_OK, "keyring");
  expect(stockade_keyring_add_key(ring, key, 32) == STOCKADE_OK, "key of a keyring");
  return ring;
}

static void make_sealed(struct memory* file, const stockade_format* format, const stockade_engine* engine) {
  stockade_file* made = NULL;
  uint64_t first = 0, last = 0;
  expect(stockade_file_create(&made, STOCKADE_ENCRYPT, format, engine) == STOCKADE_OK, "file to make");
  expect(stockade_file_bound(made, 20) <= sizeof file->bytes, "bound of a file");
  expect(stockade_file_update(made, "twenty bytes of text", 20, file->bytes, sizeof file->bytes, &first) == STOCKADE_OK,
         "update of a file");
  expect(stockade_file_final(made, file->bytes + first, sizeof file->bytes - first, &last) == STOCKADE_OK,
         "end of a file");
  stockade_file_free(made);
  file->length = first + last;
  file->done = 0;
  expect(stockade_file_detect(file->bytes, 64) == 1, "detection");
}

static void try_reading(struct memory* file, const stockade_format* format, const stockade_engine* engine) {
  stockade_file* opened = NULL;
  stockade_reader* reader = NULL;
  stockade_fault fault;
  char text[100];
  uint64_t length = 0, offset = 0;
  expect(stockade_file_create(&opened, STOCKADE_DECRYPT, format, engine) == STOCKADE_OK, "file to open");
  expect(stockade_file_pull(opened, read_next, file, text, sizeof text, &length) == STOCKADE_OK, "pull");
  expect(length == 20 && memcmp(text, "twenty bytes of text", 20) == 0, "pulled text");
  expect(stockade_file_fault(opened, &fault) == STOCKADE_OK && fault.status == STOCKADE_OK, "no fault");
  stockade_file_free(opened);
  expect(stockade_reader_create(&reader, read_any, file, file->length, format, engine, &fault) == STOCKADE_OK,
         "reader");
  expect(stockade_reader_length(reader) == 20 && stockade_reader_header_length(reader) == 1024, "lengths");
  expect(stockade_reader_read_at(reader, 7, text, 5, &length, NULL) == STOCKADE_OK, "read at");
  expect(length == 5 && memcmp(text, "bytes", 5) == 0, "text that was read");
  stockade_reader_free(reader);
  expect(stockade_ciphertext_range(1024, 7, 5, &offset, &length) == STOCKADE_OK && offset == 1080, "range");
  expect(stockade_plaintext_length(file->length - 1024, &length) == STOCKADE_OK && length == 20, "plaintext length");
}

/* The jobs have no descriptors to work on; what they say about that is enough here. */
static void try_jobs(const stockade_format* format) {
  stockade_file_job job;
  char text[100];
  memset(&job, 0, sizeof job);
  job.struct_size = sizeof job;
  expect(stockade_file_encrypt_fd(-1, -1, format, &job, NULL) == STOCKADE_ERROR_IO, "encryption");
  expect(stockade_file_decrypt_fd(-1, -1, format, &job, NULL) == STOCKADE_ERROR_IO, "decryption");
  expect(stockade_file_verify_fd(-1, format, &job, NULL) == STOCKADE_ERROR_IO, "verification");
  expect(job.fault.status == STOCKADE_ERROR_IO, "fault of a job");
  expect(stockade_fault_text(&job.fault, text, sizeof text) == STOCKADE_OK && text[0] != '\0', "sentence");
}

static void try_header(const struct memory* file, const stockade_keyring* ring, const uint8_t key[32]) {
  stockade_header* header = NULL;
  stockade_stanza stanza;
  stockade_keyring* other = NULL;
  uint8_t changed[2048];
  char id[12];
  const char* remove[1];
  uint64_t length = 0;
  expect(stockade_key_id(key, 32, id) == STOCKADE_OK, "key id");
  expect(stockade_header_parse(&header, file->bytes, file->length, NULL) == STOCKADE_OK, "header");
  expect(stockade_header_length(header) == 1024, "length of the header");
  expect(stockade_header_cipher(header) == STOCKADE_COBBLESTONE_256, "cipher");
  expect(stockade_header_stanza(header, 0, &stanza) == STOCKADE_OK && strcmp(stanza.kind, "key") == 0, "stanza");
  expect(strncmp(stanza.arguments, id, 11) == 0 && stanza.body_length == 48, "what it says");
  stockade_header_free(header);
  expect(stockade_keyring_create(&other) == STOCKADE_OK, "another keyring");
  expect(stockade_keyring_add_passphrase(other, "swordfish", 9, 1) == STOCKADE_OK, "passphrase");
  remove[0] = id;
  expect(stockade_header_rekey(file->bytes, file->length, ring, 0, remove, 1, other, changed, sizeof changed, &length,
                               NULL) == STOCKADE_OK,
         "rekey");
  expect(length == 1024, "length of the changed header");
  expect(
      stockade_armor_decode("-----BEGIN", 10, 0, changed, sizeof changed, &length, NULL) == STOCKADE_OK && length == 0,
      "armor");
  stockade_keyring_free(other);
}

static int count_item(void* context, uint64_t index) {
  ((uint8_t*)context)[index] = 1;
  return 0;
}

static void try_file(const stockade_engine* engine) {
  static struct memory file;
  stockade_format format;
  stockade_keyring* ring;
  uint8_t key[32], seen[3] = {0, 0, 0};
  expect(stockade_random(key, sizeof key) == STOCKADE_OK, "random bytes");
  ring = make_keyring(key);
  memset(&format, 0, sizeof format);
  format.struct_size = sizeof format;
  format.keyring = ring;
  make_sealed(&file, &format, engine);
  try_reading(&file, &format, engine);
  try_jobs(&format);
  try_header(&file, ring, key);
  stockade_keyring_free(ring);
  expect(stockade_for_each(3, count_item, seen, engine) == STOCKADE_OK && seen[0] + seen[1] + seen[2] == 3, "for each");
}

static void try_information(void) {
  stockade_machine machine;
  stockade_feature feature;
  stockade_row row;
  const char *name = NULL, *summary = NULL;
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", STOCKADE_VERSION_MAJOR, STOCKADE_VERSION_MINOR, STOCKADE_VERSION_PATCH);
  expect(strcmp(stockade_version(), version) == 0, "version of header and library");
  expect(stockade_machine_get(&machine) == STOCKADE_OK && machine.cores >= 1 && machine.threads >= 1, "machine");
  expect(memchr(machine.cpu, 0, sizeof machine.cpu) != NULL, "name of the processor");
  expect(stockade_feature_get(0, &feature) == STOCKADE_OK && feature.name[0] != '\0', "feature");
  expect(stockade_row_get(0, &row) == STOCKADE_OK && row.name[0] != '\0', "row");
  expect(stockade_engine_get(0, &name, &summary) == STOCKADE_OK && name[0] != '\0', "engine");
  expect(strstr(stockade_build(), "compiler=") != NULL, "build");
  expect(stockade_status_text(STOCKADE_ERROR_PADDING)[0] != '\0', "status text");
}

int main(void) {
  stockade_engine* engine = NULL;
  expect(stockade_engine_create(&engine, "threads", 2) == STOCKADE_OK, "engine");
  try_one_message(engine);
  try_one_message(NULL);
  try_sealed_message(engine);
  try_stream(NULL);
  try_file(engine);
  try_file(NULL);
  try_information();
  stockade_engine_free(engine);
  return failures == 0 ? 0 : 1;
}
