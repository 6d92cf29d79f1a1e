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
  try_information();
  stockade_engine_free(engine);
  return failures == 0 ? 0 : 1;
}
