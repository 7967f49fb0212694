// The function that updates records while test/support/worlds/scans.ts scans them.
import './scans/syncs/update.js';
