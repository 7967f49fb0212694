/** Parts of a deployed function beside its name, code and hash. */
export const aFunction = {
  description: 'a function',
  version: '1',
  source: '',
  models: [],
  jsonSchema: {},
  inputModel: null,
  scopes: [],
  features: [],
  frequency: null,
  autoStart: false,
  trackDeletes: false,
  syncType: 'full',
  webhookSubscriptions: [],
  event: null,
} as const;
