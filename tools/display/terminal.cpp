#include "tools/display/terminal.hpp"

#include <sys/ioctl.h>

namespace tandem::tools {

FrameSize terminal_size(int descriptor, bool utf8) {
  FrameSize size;
  size.utf8 = utf8;
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
    size.columns = window.ws_col;
    size.rows = window.ws_row;
  }
  return size;
}

}  // namespace tandem::tools
