import { createSync } from 'svc';
import { TimeOff } from '../../models/hr.js';
import { timeOffOf, type BamboohrTimeOff } from '../time-off.js';

/** The list wants a range: every request from the beginning of the century to the end of the year after the next. */
const start = '2000-01-01';
const yearsAhead = 2;

const sync = createSync({
  description: 'All time off requests; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { TimeOff },

  // The API has one response for all: there is no position to come back to.
  exec: async (svc) => {
    await svc.trackDeletesStart('TimeOff');
    const { data: requests } = await svc.get<BamboohrTimeOff[]>({
      endpoint: '/v1/time_off/requests',
      params: { start, end: `${new Date().getUTCFullYear() + yearsAhead}-12-31` },
      retries: 5,
    });
    await svc.batchSave(requests.map(timeOffOf), 'TimeOff');
    await svc.trackDeletesEnd('TimeOff');
  },
});

export default sync;
