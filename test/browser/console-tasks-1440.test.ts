import { doesTasksAt } from './console-task-looks.ts';

doesTasksAt({ width: 1440, height: 900 });
