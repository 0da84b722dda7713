#pragma once

#include <vector>

#include "scenarios/jobs/shell/settings.h"
#include "scenarios/jobs/shell/value.h"

/// Settings that a script gives as hydra's overrides. Private to the folder.
namespace debubble::jobs {

/// Every `section.field=value` of a script's commands, in their order, with its whole path as its
/// name. Hydra's + and ++ before the path and quotes around the value are not part of them; "[a,b]"
/// is a list. Values null and None are absence, which stays a setting.
std::vector<Setting> hydra_overrides(const ShellScript& script);

/// True for null and None.
bool says_none(const Setting& setting);

}  // namespace debubble::jobs
