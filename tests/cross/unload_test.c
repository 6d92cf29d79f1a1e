/* A program that loads the library, has it start threads, and lets it go again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stockade/stockade.h>

#define TAKE(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(library, #name)

int main(int count, char **arguments) {
  static unsigned char in[1 << 20], out[1 << 20], again[1 << 20];
  const unsigned char bytes[16] = {1}, iv[16] = {2};
  if (count != 2) return 2;
  for (int turn = 0; turn < 3; ++turn) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    TAKE(stockade_key_create);
    TAKE(stockade_key_free);
    TAKE(stockade_engine_create);
    TAKE(stockade_engine_free);
    TAKE(stockade_encrypt);
    TAKE(stockade_decrypt);
    stockade_key *key = NULL;
    stockade_engine *engine = NULL;
    if (p_stockade_key_create(&key, STOCKADE_CTR, bytes, sizeof bytes, NULL) != STOCKADE_OK) return 1;
    if (p_stockade_engine_create(&engine, "threads", 4) != STOCKADE_OK) return 1;
    for (int i = 0; i < 20; ++i) {
      if (p_stockade_encrypt(key, iv, sizeof iv, in, sizeof in, out, engine) != STOCKADE_OK) return 1;
      if (p_stockade_decrypt(key, iv, sizeof iv, out, sizeof out, again, engine) != STOCKADE_OK) return 1;
      if (memcmp(in, again, sizeof in) != 0) return 1;
    }
    p_stockade_engine_free(engine);
    p_stockade_key_free(key);
    if (dlclose(library) != 0) return 1;
    usleep(20000);
  }
  return 0;
}
