import { isLoopbackHost } from '#http/same-origin.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { AddedProviders, Extension, ProviderServices } from '#modules/extensions/extension.ts';
import type { Config } from '../config/config.ts';

/** Whether only this machine can reach the gateway, and its data is in its own folder. */
export const isOnlyLocal = ({ host, logUrl, publicUrl }: Config): boolean =>
  logUrl.kind === 'embedded' && isLoopbackHost(host) && publicUrl === null;

interface OpenedProviders {
  readonly providers: ProviderCatalogue;
  readonly addedProviders: ReadonlySet<string>;
  /** `host:port` that the egress guard must let through. */
  readonly allow: readonly string[];
}

/** The catalog with the providers that optional parts open; entries of the operator stay. */
export async function addProviders(
  stack: AsyncDisposableStack,
  { config, extensions }: { readonly config: Config; readonly extensions: readonly Extension[] },
  { providers, ...services }: ProviderServices & { readonly providers: ProviderCatalogue },
): Promise<OpenedProviders> {
  const isWanted = config.demo === 'yes' && config.roles.has('api') && isOnlyLocal(config);
  const opened: AddedProviders[] = [];
  for (const extension of isWanted ? extensions : []) {
    const part = await extension.openProviders?.(stack, services);
    if (part !== undefined) opened.push(part);
  }
  const added = opened
    .flatMap(({ definitions }) => definitions)
    .filter(({ name }) => providers.find(name) === null);
  const byName = new Map(added.map((one) => [one.name, one] as const));
  const all = [...providers.all(), ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    providers: { find: (name) => byName.get(name) ?? providers.find(name), all: () => all },
    addedProviders: new Set(
      opened.flatMap(({ definitions }) => definitions.map((one) => one.name)),
    ),
    allow: opened.flatMap(({ allow }) => allow),
  };
}
