import type { Provider } from './definition.ts';

/** The built-in provider definitions with the operator's overlay (contract/providers-format.md). */
export interface ProviderCatalogue {
  find(name: string): Provider | null;
  all(): readonly Provider[];
}
