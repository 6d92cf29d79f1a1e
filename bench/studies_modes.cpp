// S1: ECB and CTR, textbook code on one core against a GPU with both transfers and the key's expansion.
#include "aes.h"
#include "study_questions.h"

namespace stockade::bench {

void ask_modes(const StudySettings& settings, const StudyListener& listener) {
  StudySpace space(study_space_bytes(settings.mode_sizes));
  for (const AesCipher& cipher :
       {AesCipher{"aes-128-ecb", STOCKADE_ECB, 128}, AesCipher{"aes-128-ctr", STOCKADE_CTR, 128}}) {
    StudyTable table{"s1",
                     "modes",
                     cipher.name + " encrypt, memory to memory, with the key's set-up",
                     "textbook",
                     settings.mode_sizes,
                     false,
                     {}};
    std::vector<StudyContender> contenders;
    contenders.push_back(openssl_contender(cipher, space));
    contenders.push_back(row_contender("textbook", "reference", cipher, space));
    contenders.back().slow = true;
    contenders.push_back(engine_contender("one core", "serial", 1, cipher, space));
    contenders.push_back(engine_contender("all cores", "threads", settings.threads, cipher, space));
    contenders.push_back(cuda_contender(settings, cipher, space));
    measure_contenders(table, cipher, contenders, space, settings, listener);
    compare_with_yardstick(table);
    listener.on_table(table);
  }
}

}  // namespace stockade::bench
