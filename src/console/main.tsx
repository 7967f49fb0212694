import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme-choice.ts';

applyTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('The document has no element #app.');
render(<App />, root);
