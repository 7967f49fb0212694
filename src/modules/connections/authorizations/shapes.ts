import { z } from 'zod';

/** The resulting connection. */
export const connectedShape = z
  .strictObject({ connectionId: z.string(), providerConfigKey: z.string() })
  .meta({
    id: 'Connected',
    examples: [{ connectionId: 'acme-1', providerConfigKey: 'crm-prod' }],
  });
