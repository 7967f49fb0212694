import type { Extension } from '../extension.ts';
import { openDemo } from './open.ts';
import { demoRoutes } from './routes.ts';

export const demo: Extension = { routes: demoRoutes, openProviders: openDemo };
