import '#test/support/with-services.ts';
import './snapshots.test.ts';
