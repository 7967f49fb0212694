import type { Provider } from './definition.ts';

/** The built-in definitions with the operator's overlay (docs/reference/provider-format.md#catalog-and-overlays). */
export interface ProviderCatalogue {
  /** By its name, or by an alias that no other entry has as its name. */
  find(name: string): Provider | null;
  all(): readonly Provider[];
}
