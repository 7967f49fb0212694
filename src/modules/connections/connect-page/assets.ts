import { type Asset, pageBundle } from '#http/page-bundle.ts';

export interface PageAssets {
  readonly files: ReadonlyMap<string, Asset>;
  /** Names of the entry files of the two documents. */
  readonly pageScript: string;
  readonly callbackScript: string;
  readonly style: string;
  /** The embed script, whose name never changes. */
  readonly embed: Asset;
}

const pages = pageBundle('connect-page');
const embeds = pageBundle('connect-embed');

/** Read on the first call in the process. */
export async function pageAssets(): Promise<PageAssets> {
  const [page, { files, nameOf }] = await Promise.all([pages(), embeds()]);
  const embed = files.get(nameOf('embed'));
  if (embed === undefined) throw new Error('The embed script has no output.');
  return {
    files: page.files,
    pageScript: page.nameOf('page'),
    callbackScript: page.nameOf('callback'),
    style: page.nameOf('style'),
    embed,
  };
}
