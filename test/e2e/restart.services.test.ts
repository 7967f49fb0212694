import '#test/support/processes/with-services.ts';
import './restart.test.ts';
