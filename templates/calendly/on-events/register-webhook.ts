import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of the invitees of the user; the signing key of the app signs it, which is the webhook secret of the integration',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { data: me } = await svc.get<{
      resource: { uri: string; current_organization: string };
    }>({ endpoint: '/users/me', retries: 3 });
    // No `signing_key`: Calendly takes one with personal access tokens alone.
    const { data } = await svc.post<{ resource: { uri: string } }>({
      endpoint: '/webhook_subscriptions',
      data: {
        url: await webhookAddress(svc),
        events: ['invitee.created', 'invitee.canceled'],
        organization: me.resource.current_organization,
        user: me.resource.uri,
        scope: 'user',
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.resource.uri.split('/').at(-1) });
  },
});

export default onEvent;
