import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { Call, callOf, type AircallCall } from '../call.js';
import { createdFrom } from '../windows.js';

/** A call is answered, ended, tagged and commented after its creation: those of the last day are read again. */
const changesMs = 24 * 60 * 60 * 1000;

const sync = createSync({
  description:
    'Calls since the last run, and those of the day before it again; the first run reads the six months that Aircall lists',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Call },
  checkpoint: z.object({
    /** Of the calls that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** Calls before it are saved: an interrupted run goes on there. */
    from: z.number().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor((nextSince() - changesMs) / 1000);
    const pages = createdFrom<AircallCall>(svc, {
      endpoint: '/v1/calls',
      // Without it Aircall leaves the contact out of every call.
      params: { fetch_contact: 'true' },
      path: 'calls',
      from: checkpoint?.from ?? since,
      createdAt: (call) => call.started_at,
      savePosition: (from) => svc.saveCheckpoint({ since, nextSince: next, from }),
    });
    for await (const calls of pages) await svc.batchSave(calls.map(callOf), 'Call');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
