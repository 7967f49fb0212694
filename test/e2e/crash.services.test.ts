import '#test/support/processes/with-services.ts';
import './crash.test.ts';
