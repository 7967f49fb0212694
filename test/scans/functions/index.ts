// The function that updates records while test/support/scans.ts scans them.
import './scans/syncs/update.js';
