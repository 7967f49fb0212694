import type { Extension } from '../extension.ts';
import { consolePageRoutes } from './routes.ts';

export const consolePage: Extension = { routes: consolePageRoutes };
