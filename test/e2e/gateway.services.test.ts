import '#test/support/with-services.ts';
import './gateway.test.ts';
