import { createOnEvent } from 'svc';

const onEvent = createOnEvent({
  description: 'Refuses a connection whose account may not read contacts',
  version: '1.0.0',
  event: 'validate-connection',

  exec: async (svc) => {
    await svc.get({ endpoint: '/crm/objects/2026-03/contacts', params: { limit: 1 }, retries: 3 });
  },
});

export default onEvent;
