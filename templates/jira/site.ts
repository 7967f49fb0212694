import type { SvcSync } from 'svc';

/** The address of the page of an issue or project; null where the address of the site is not known. */
export type PageOf = (key: string) => string | null;

/** Pages are below the site of the connection; `self` of a document is its address in the API. */
export async function pagesOfSite(svc: Pick<SvcSync, 'getConnection'>): Promise<PageOf> {
  const { connection_config: config } = await svc.getConnection();
  const site: unknown = config['siteUrl'];
  return (key) => (typeof site === 'string' ? `${site}/browse/${key}` : null);
}
