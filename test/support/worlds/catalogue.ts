import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';

let loaded: ProviderCatalogue | null = null;

/** Read once for all tests of a file: checking 244 entries takes half a second. */
export function builtInCatalogue(): ProviderCatalogue {
  loaded ??= loadCatalogue({ overlayPath: null });
  return loaded;
}
