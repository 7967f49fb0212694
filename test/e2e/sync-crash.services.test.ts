import '#test/support/processes/with-services.ts';
import './sync-crash.test.ts';
