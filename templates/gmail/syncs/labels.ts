import { createSync } from 'svc';
import { GmailLabel, labelOf, type GmailApiLabel } from '../label.js';

const sync = createSync({
  description: 'All labels of the mailbox; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/gmail.metadata'],
  models: { GmailLabel },

  exec: async (svc) => {
    await svc.trackDeletesStart('GmailLabel');
    const { data } = await svc.get<{ labels?: GmailApiLabel[] }>({
      endpoint: '/gmail/v1/users/me/labels',
      retries: 5,
    });
    await svc.batchSave((data.labels ?? []).map(labelOf), 'GmailLabel');
    await svc.trackDeletesEnd('GmailLabel');
  },
});

export default sync;
