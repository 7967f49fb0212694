import type { Extension } from '../extension.ts';
import { docsSiteRoutes } from './routes.ts';

export const docsSite: Extension = { routes: docsSiteRoutes };
