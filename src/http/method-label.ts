const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method as the label of a metric: bounded, because clients may send any word. */
export const methodLabel = (method: string | undefined): string =>
  method !== undefined && methods.has(method) ? method : 'other';
