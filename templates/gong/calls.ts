import type { SvcSync } from 'svc';
import type { GongCall } from './call.js';

interface Page {
  calls: GongCall[];
  /** The last page has no cursor. */
  records: { cursor?: string };
}

interface Refusal {
  response?: { status?: number; data?: { errors?: string[] } };
}

/** A page of the calls of a time. Where there are none, Gong answers 404. */
export async function listCalls(
  svc: Pick<SvcSync, 'get'>,
  params: { fromDateTime: string; toDateTime: string; cursor: string | undefined },
): Promise<Page> {
  try {
    return (await svc.get<Page>({ endpoint: '/v2/calls', params, retries: 5 })).data;
  } catch (error) {
    const { status, data } = (error as Refusal).response ?? {};
    const isNone = data?.errors?.some((message) => message.startsWith('No calls found')) ?? false;
    if (status !== 404 || !isNone) throw error;
    return { calls: [], records: {} };
  }
}
