import '#test/support/processes/with-services.ts';
import './actions.test.ts';
