import type { SvcSync } from 'svc';

interface Listing {
  endpoint: string;
  params: Record<string, string | undefined>;
  /** Path of the documents in the response. */
  path: string;
  offset: number;
  /** Called after a page with the number of documents before the next one. */
  savePosition: (offset: number) => Promise<void>;
}

/** Pages of a list. The order must not be that of changes: what changes meanwhile would move the others. */
export async function* listed<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, params, path, offset, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  const pages = svc.paginate<Document>({
    endpoint,
    params,
    paginate: {
      type: 'offset',
      offset_name_in_request: 'offset',
      offset_start_value: offset,
      offset_calculation_method: 'by-response-size',
      response_path: path,
      limit_name_in_request: 'count',
      limit: 1000,
    },
    retries: 5,
  });
  let next = offset;
  for await (const documents of pages) {
    yield documents;
    next += documents.length;
    await savePosition(next);
  }
}
