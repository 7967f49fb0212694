import '../support/with-services.ts';
import './rebuild.test.ts';
