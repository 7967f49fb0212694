import '#test/support/processes/with-services.ts';
import './snapshots.test.ts';
