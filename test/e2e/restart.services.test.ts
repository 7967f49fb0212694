import '#test/support/with-services.ts';
import './restart.test.ts';
