import { describeEveryPage } from './console-pages.ts';

describeEveryPage('light', 1280);
