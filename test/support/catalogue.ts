import { loadCatalogue } from '../../src/modules/connections/providers/load-catalogue.ts';
import type { ProviderCatalogue } from '../../src/modules/connections/providers/catalogue.ts';

let loaded: ProviderCatalogue | null = null;

/** Read once for all tests of a file: checking 244 entries takes half a second. */
export function builtInCatalogue(): ProviderCatalogue {
  loaded ??= loadCatalogue({ overlayPath: null });
  return loaded;
}
