import '#test/support/processes/with-services.ts';
import './rebuild.test.ts';
