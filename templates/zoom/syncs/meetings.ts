import { createSync } from 'svc';
import { z } from 'zod';
import { ZoomMeeting, meetingOf, type ZoomApiMeeting } from '../meeting.js';
import { pagesOf } from '../pages.js';

const sync = createSync({
  description:
    'Meetings that the person has scheduled, with 250 characters of their agenda; those that are canceled or expired are deleted',
  version: '1.0.1',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['meeting:read:list_meetings'],
  models: { ZoomMeeting },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ token: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('ZoomMeeting');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<ZoomApiMeeting>(svc, {
      endpoint: '/users/me/meetings',
      path: 'meetings',
      params: { type: 'scheduled' },
      token: checkpoint?.token ?? '',
    });
    for await (const { rows, token } of pages) {
      await svc.batchSave(rows.map(meetingOf), 'ZoomMeeting');
      if (token !== '') await svc.saveCheckpoint({ token });
    }
    await svc.trackDeletesEnd('ZoomMeeting');
    await svc.clearCheckpoint();
  },
});

export default sync;
