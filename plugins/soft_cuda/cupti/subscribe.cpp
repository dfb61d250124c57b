// CUPTI's callback API over the hub of the device.
#include <cupti.h>

#include <cstring>

#include "plugins/soft_cuda/abi/api_call.h"
#include "plugins/soft_cuda/cupti/names.h"

using graphkit::soft::Hub;
using graphkit::soft::TheHub;

namespace {

constexpr char kPrefix[] = "CUPTI for ";

// There is one subscriber; its handle is the hub.
bool IsSubscriber(CUpti_SubscriberHandle handle) {
  Hub& hub = TheHub();
  const std::lock_guard lock(hub.mutex);
  return hub.subscribed && reinterpret_cast<Hub*>(handle) == &hub;
}

void TellHolder(const Hub& hub, const CUpti_SubscriberParams* params) {
  if (params == nullptr || params->oldSubscriberName == nullptr || params->oldSubscriberSize == 0)
    return;
  std::strncpy(params->oldSubscriberName, hub.name.c_str(), params->oldSubscriberSize - 1);
  params->oldSubscriberName[params->oldSubscriberSize - 1] = '\0';
}

CUptiResult Subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                      void* user_data, const CUpti_SubscriberParams* params) {
  if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  Hub& hub = TheHub();
  const std::lock_guard lock(hub.mutex);
  if (hub.subscribed) {
    TellHolder(hub, params);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  hub.subscribed = true;
  hub.name = params != nullptr && params->subscriberName != nullptr
                 ? kPrefix + std::string(params->subscriberName)
                 : std::string("CUPTI");
  hub.user_data.store(user_data);
  hub.callback.store(callback);
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&hub);
  return CUPTI_SUCCESS;
}

bool IsDomain(CUpti_CallbackDomain domain) {
  return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

void EnableAll(CUpti_CallbackDomain domain, uint32_t enable) {
  for (uint32_t cbid = 1; cbid < Hub::kCallbacks; ++cbid) {
    TheHub().enabled[domain][cbid].store(enable != 0, std::memory_order_relaxed);
  }
}

}  // namespace

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user_data) {
  return Subscribe(subscriber, callback, user_data, nullptr);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* user_data, CUpti_SubscriberParams* params) {
  if (params != nullptr && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return Subscribe(subscriber, callback, user_data, params);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  if (!IsSubscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  Hub& hub = TheHub();
  for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    EnableAll(static_cast<CUpti_CallbackDomain>(domain), 0);
  }
  const std::lock_guard lock(hub.mutex);
  hub.callback.store(nullptr);
  hub.subscribed = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  const uint32_t known = graphkit::soft::CallbackCount(domain);
  if (!IsSubscriber(subscriber) || !IsDomain(domain) || cbid == 0 || cbid >= known) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  TheHub().enabled[domain][cbid].store(enable != 0, std::memory_order_relaxed);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
  if (!IsSubscriber(subscriber) || !IsDomain(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  EnableAll(domain, enable);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber) {
  if (!IsSubscriber(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    EnableAll(static_cast<CUpti_CallbackDomain>(domain), enable);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  if (enable == nullptr || !IsSubscriber(subscriber) || !IsDomain(domain) ||
      cbid >= Hub::kCallbacks) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *enable = TheHub().enabled[domain][cbid].load(std::memory_order_relaxed);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t* count, CUpti_DomainTable* table) {
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                           CUPTI_CB_DOMAIN_RESOURCE};
  if (count == nullptr || table == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *count = 3;
  *table = domains;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
  Hub& hub = TheHub();
  return hub.subscribed ? cuptiUnsubscribe(reinterpret_cast<CUpti_SubscriberHandle>(&hub))
                        : CUPTI_SUCCESS;
}
