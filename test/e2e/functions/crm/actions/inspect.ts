import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'What an action knows of where it runs',
  version: '1.0.0',
  input: z.void(),
  output: z.unknown(),
  exec: async (svc) => ({
    connectionId: svc.connectionId,
    providerConfigKey: svc.providerConfigKey,
    environmentName: svc.environmentName,
    token: await svc.getToken(),
    metadata: await svc.getMetadata(),
    variables: await svc.getEnvironmentVariables(),
    integration: (await svc.getIntegration()).unique_key,
    echoed: await svc.triggerAction('echo', { from: 'inspect' }),
  }),
});

export default action;
