import { describeEveryPage } from './console-pages.ts';

describeEveryPage('dark', 390);
