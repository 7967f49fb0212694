import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Provider } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import type { Choice } from '../../design/field.tsx';
import { Empty } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { categoryLabel, logoPath, modeLabels } from './provider-words.ts';

/** A mark of the definitions, not a kind of product: it orders the catalog. */
const popular = 'popular';

/** The providers of the catalog, of which one is chosen for an integration. */
export function Catalog(): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /providers', {});
  return (
    <Page
      title="Add an integration"
      about="Choose the product that your users connect. The next page leads through its setup."
      crumbs={[['Integrations', path('/integrations')]]}
    >
      <LoadedState query={query}>{({ data }) => <Providers providers={data} />}</LoadedState>
    </Page>
  );
}

function Providers({ providers }: { readonly providers: readonly Provider[] }): JSX.Element {
  const filters = useUrlState();
  const grid = useRef<HTMLUListElement>(null);
  const ordered = useMemo(() => providers.toSorted(byPopularity), [providers]);
  const found = ordered
    .filter((provider) => matches(provider, filters))
    .sort(byBeginning(filters.get('search')));
  const move = (event: KeyboardEvent): void => moveFocus(event, grid.current);
  return (
    <div class="stack" onKeyDown={move}>
      <Filters filters={filters} providers={providers} />
      <p class="muted number" role="status">
        {filters.isEmpty
          ? counted(providers.length, 'provider')
          : `${found.length} of ${counted(providers.length, 'provider')}`}
      </p>
      {found.length > 0 ? <Cards list={grid} providers={found} /> : <Nothing filters={filters} />}
    </div>
  );
}

const isPopular = ({ categories }: Provider): boolean => categories.includes(popular);

const byPopularity = (one: Provider, other: Provider): number =>
  Number(isPopular(other)) - Number(isPopular(one)) ||
  one.display_name.localeCompare(other.display_name, 'en');

/** Those whose name begins with the search come first. */
function byBeginning(search: string): (one: Provider, other: Provider) => number {
  const begins = ({ display_name: title }: Provider): number =>
    Number(title.toLowerCase().startsWith(search.toLowerCase()));
  return (one, other) => begins(other) - begins(one);
}

/** Every word of the search begins a word of the name or stands in it, or in a category. */
function matches(
  { name, display_name: title, categories, auth_mode }: Provider,
  filters: UrlState,
) {
  const mode = filters.get('mode');
  const category = filters.get('category');
  if (mode !== '' && mode !== auth_mode) return false;
  if (category !== '' && !categories.includes(category)) return false;
  const text = `${name} ${title} ${categories.join(' ')}`.toLowerCase();
  const words = filters.get('search').toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}

interface FiltersProps {
  readonly filters: UrlState;
  readonly providers: readonly Provider[];
}

function Filters({ filters, providers }: FiltersProps): JSX.Element {
  const categories = choicesOf(
    providers.flatMap((provider) => provider.categories),
    categoryLabel,
  );
  const modes = choicesOf(
    providers.map((provider) => provider.auth_mode),
    (mode) => modeLabels[mode],
  );
  return (
    <FilterBar filters={filters}>
      <FilterText
        filters={filters}
        name="search"
        label="Search"
        type="search"
        placeholder="Name or category"
        isWide
      />
      <FilterSelect filters={filters} name="category" label="Category" values={categories} />
      <FilterSelect filters={filters} name="mode" label="How users sign in" values={modes} />
    </FilterBar>
  );
}

/** Each value with its number, by label. */
function choicesOf<Value extends string>(
  values: readonly Value[],
  labelOf: (value: Value) => string,
): readonly Choice[] {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, label: `${labelOf(value)} (${count})` }))
    .sort((one, other) => one.label.localeCompare(other.label, 'en'));
}

interface CardsProps {
  readonly list: { current: HTMLUListElement | null };
  readonly providers: readonly Provider[];
}

function Cards({ list, providers }: CardsProps): JSX.Element {
  const { can, path } = useAccess();
  const isEnabled = can('environment:integrations:list');
  const { data } = useRead('GET /integrations', { query: { credentials: 'none' } }, { isEnabled });
  const added = new Set(data?.data.map(({ provider }) => provider));
  return (
    <ul class="catalog" aria-label="Providers" ref={list}>
      {providers.map(({ name, display_name: title, logo_url: logo, categories, auth_mode }) => (
        <li key={name}>
          <Link class="card provider" href={path(`/integrations/new${pathOf(name)}`)}>
            {/* `loading` first: with `src` the browser asks for the image at once. */}
            <img loading="lazy" src={logoPath(logo)} alt="" width={40} height={40} />
            <span class="grow">
              <span class="row spread">
                <b class="name">{title}</b>
                {added.has(name) && <Badge tone="good">added</Badge>}
              </span>
              <span class="muted about">
                {categories
                  .filter((one) => one !== popular)
                  .map(categoryLabel)
                  .join(' · ')}
              </span>
              <span class="muted about">{modeLabels[auth_mode]}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Nothing({ filters }: { readonly filters: UrlState }): JSX.Element {
  const search = filters.get('search');
  return (
    <Empty
      title={search === '' ? 'No provider matches' : `No provider matches “${search}”`}
      action={
        <div class="row">
          <Button onPress={() => filters.set({ search: '', category: '', mode: '' })}>
            Show all providers
          </Button>
          <a class="button" href="/docs/reference/provider-format/" target="_blank" rel="noopener">
            Describe one of your own
          </a>
        </div>
      }
    >
      Change the search or the filters. An API that is not in the catalog can be described in a
      file.
    </Empty>
  );
}

const arrows: Readonly<Record<string, (columns: number) => number>> = {
  ArrowDown: (columns) => columns,
  ArrowUp: (columns) => -columns,
  ArrowRight: () => 1,
  ArrowLeft: () => -1,
};

/** From the search into the cards, and from card to card, by the arrow keys. */
function moveFocus(event: KeyboardEvent, grid: HTMLUListElement | null): void {
  const step = arrows[event.key];
  const { target } = event;
  if (step === undefined || grid === null || !(target instanceof HTMLElement)) return;
  const cards = [...grid.querySelectorAll('a')];
  const at = cards.findIndex((card) => card === target);
  const isSearch = target instanceof HTMLInputElement && event.key === 'ArrowDown';
  if (at === -1 && !isSearch) return;
  const top = cards[0]?.offsetTop;
  const columns = cards.filter((card) => card.offsetTop === top).length;
  const next = cards[at === -1 ? 0 : at + step(columns)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
