import type { IconName } from '../design/icon.tsx';

/** A page of the navigation. */
export interface NavigationItem {
  /** Below the section of the environment or of the account. */
  readonly page: string;
  readonly label: string;
  readonly icon: IconName;
  /** Without this scope the page is not offered. */
  readonly scope: string;
}

export const environmentPages: readonly NavigationItem[] = [
  {
    page: '/integrations',
    label: 'Integrations',
    icon: 'plug',
    scope: 'environment:integrations:list',
  },
  {
    page: '/connections',
    label: 'Connections',
    icon: 'link',
    scope: 'environment:connections:list',
  },
  { page: '/runs', label: 'Runs', icon: 'play', scope: 'environment:logs:read' },
];

export const accountPages: readonly NavigationItem[] = [];
