import '#test/support/processes/with-services.ts';
import './subscriptions-crash.test.ts';
