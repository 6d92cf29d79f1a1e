// One process that makes or opens a file in slices, with a journal: interrupted, it can be taken up again.
#pragma once

#include "base/random.h"
#include "base/status.h"
#include "config/environment.h"
#include "format/file_job.h"
#include "format/recipient.h"

namespace stockade::slices {

// stockade_file_encrypt_fd and stockade_file_decrypt_fd where job.journal_fd is a journal. `journal` is its keyring.
Status encrypt_with_journal(const format::FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                            const format::Keyring& journal, const config::EngineChoice& engine, RandomSource& random,
                            const format::JobPace& pace = {});
Status decrypt_with_journal(const format::FileFormat& format, int in_fd, int out_fd, stockade_file_job& job,
                            const format::Keyring& journal, const config::EngineChoice& engine, RandomSource& random,
                            const format::JobPace& pace = {});

}  // namespace stockade::slices
