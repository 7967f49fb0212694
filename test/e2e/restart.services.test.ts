import '../support/with-services.ts';
import './restart.test.ts';
