// Every function that is deployed, one line each. The first folder is the integration.
import './npm/syncs/releases.js';
import './npm/actions/latest-version.js';
