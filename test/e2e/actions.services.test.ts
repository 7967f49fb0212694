import '#test/support/with-services.ts';
import './actions.test.ts';
